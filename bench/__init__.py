"""Programs that measure speed, as ratios against the bare thing in the same run."""
