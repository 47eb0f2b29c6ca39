/** Whether this machine supports it: Linux with util-linux. */
export function canFillDisks(): boolean;

/** Makes every file write of this process fail from now on. Returns false if the process has ended. */
export function fillDisk(pid: number): boolean;

export function freeDisk(pid: number): boolean;
