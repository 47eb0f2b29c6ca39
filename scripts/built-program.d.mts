/** Entry points of a build: the given file in gateway/src/cli, and the program of each worker thread. */
export function entriesOf(main: string): string[];
/** Paths of the lockfile's `packages` that are part of the shipped program, sorted. */
export function shippedPackages(packages: object): string[];
