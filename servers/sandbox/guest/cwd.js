os.chdir(std.getenv("SANDBOX_CWD"));
std.unsetenv("SANDBOX_CWD");
