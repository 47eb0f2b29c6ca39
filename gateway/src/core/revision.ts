/** The first twelve digits of a commit's hash, with what stands behind it (`-dirty`, `-checkout`). */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{12})[0-9a-f]+/, "$1");
}
