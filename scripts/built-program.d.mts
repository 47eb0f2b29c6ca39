/** Files of the source that a build begins with: this one of gateway/src/cli, and the program of each thread. */
export function entriesOf(main: string): string[];
/** Paths in the lockfile's `packages` of those of which something is shipped, sorted. */
export function shippedPackages(packages: object): string[];
