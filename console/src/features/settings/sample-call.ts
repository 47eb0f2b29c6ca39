import { shellQuoted } from "../../components/snippet-texts.ts";

/** A first call for a script: what a token of one workspace, or of everything (null), can read. */
export function sampleCall(publicUrl: string, workspace: string | null): string {
  const place = workspace === null ? "-" : encodeURIComponent(workspace);
  const url = `${publicUrl.replace(/\/+$/, "")}/api/workspaces/${place}/keys`;
  return `curl ${shellQuoted(url)} \\\n  -H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"`;
}
