/** Writes the pages of the site into a folder. Throws with every link that leads nowhere, and with pages that are in no group. */
export function prepare(folder: string): void;
