// Stands for packages of commands that the shell does not offer (see `left out` in main.mjs).
export default class Unavailable {
  constructor() {
    throw new Error("This command is not available");
  }
}
