/** Files of the source that a build begins with: this one of gateway/src/cli, and the program of each thread. */
export function entriesOf(main: string): string[];
