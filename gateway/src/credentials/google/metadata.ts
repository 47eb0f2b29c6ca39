import type { CredentialContext } from "../context.ts";
import type { Issued } from "../issued.ts";
import { readAccessToken, refusedBy } from "../oauth.ts";

const to = "the Google Cloud metadata server";

/**
 * A token of the service account of the machine, the pod (GKE) or the service (Cloud Run).
 * https://cloud.google.com/compute/docs/access/authenticate-workloads
 */
export async function metadataToken(context: CredentialContext): Promise<Issued<string>> {
  const host = context.workload.variable("GCE_METADATA_HOST") ?? "169.254.169.254";
  const answer = await context.send({
    to,
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
    reach: "machine",
  });
  const issued = readAccessToken(answer);
  if (issued === null || answer.headers.get("metadata-flavor") !== "Google") throw refusedBy(to, answer);
  return issued;
}
