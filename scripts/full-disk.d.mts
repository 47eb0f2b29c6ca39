/** Whether this machine can do it. */
export function canFillDisks(): boolean;

/** Every write of this process to a file fails from now on. False where it has gone. */
export function fillDisk(pid: number): boolean;

export function freeDisk(pid: number): boolean;
