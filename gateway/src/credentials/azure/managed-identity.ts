import { parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import type { Issued } from "../issued.ts";
import { readAccessToken, refusedBy } from "../oauth.ts";

/**
 * A token of the machine's managed identity: from the endpoint of App Service, Functions and Container Apps, else from the
 * metadata service of virtual machines and AKS nodes. `clientId` chooses a user-assigned identity.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 */
export async function managedIdentityToken(
  context: CredentialContext,
  { clientId, resource }: { readonly clientId: string | null; readonly resource: string },
): Promise<Issued<string>> {
  const { workload } = context;
  const endpoint = workload.variable("IDENTITY_ENDPOINT");
  const header = workload.variable("IDENTITY_HEADER");
  const isHosted = endpoint !== null && header !== null;
  const root = (workload.variable("AZURE_POD_IDENTITY_AUTHORITY_HOST") ?? "http://169.254.169.254").replace(/\/+$/, "");
  const query = new URLSearchParams({
    "api-version": isHosted ? "2019-08-01" : "2018-02-01",
    resource,
    ...(clientId === null ? {} : { client_id: clientId }),
  });
  const to = isHosted ? "the managed identity endpoint" : "the Azure instance metadata service";
  const answer = await context.send({
    to,
    url: `${isHosted ? endpoint : `${root}/metadata/identity/oauth2/token`}?${query}`,
    headers: isHosted ? { "x-identity-header": header } : { metadata: "true" },
    reach: "machine",
  });
  const issued = readAccessToken(answer);
  if (issued === null) throw refusedBy(to, answer);
  // The endpoint of App Service only has a time.
  const end = Number(textOf(parseObject(answer.text)?.["expires_on"]) ?? Number.NaN) * 1_000;
  return Number.isNaN(end) ? issued : { ...issued, expiresInMs: Math.max(0, end - context.now()) };
}
