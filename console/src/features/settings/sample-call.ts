import { shellQuoted } from "../../components/snippet-texts.ts";

/** A sample request for a script that a token of one workspace, or of all (null), may send. */
export function sampleCall(publicUrl: string, workspace: string | null): string {
  const place = workspace === null ? "-" : encodeURIComponent(workspace);
  const url = `${publicUrl.replace(/\/+$/, "")}/api/workspaces/${place}/keys`;
  return `curl ${shellQuoted(url)} \\\n  -H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"`;
}
