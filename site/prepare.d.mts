/** Writes the pages of the site into a folder. Throws with a list of broken links and of pages that are in no group. */
export function prepare(folder: string): void;
