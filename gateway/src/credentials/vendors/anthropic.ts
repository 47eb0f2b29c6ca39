import type { CredentialContext } from "../context.ts";
import { identityToken } from "../identity-file.ts";
import type { Issued } from "../issued.ts";
import { requireVendor } from "../machine-identity.ts";
import { readAccessToken, refusedBy } from "../oauth.ts";
import { unusableCredential } from "../unusable.ts";

export interface AnthropicIdentity {
  /** With its version, such as https://api.anthropic.com/v1. */
  readonly root: string;
  /** See `identityToken`. */
  readonly identityFile: string | null;
  readonly federationRuleId: string | null;
  readonly organizationId: string | null;
  readonly serviceAccountId: string | null;
  readonly workspaceId: string | null;
}

/** Calls with a token need this beta. */
export const oauthBeta = "oauth-2025-04-20";

/** Exchanges a token of the machine (RFC 7523), as `oidcFederationProvider` of Anthropic's SDK does. */
export async function anthropicToken(identity: AnthropicIdentity, context: CredentialContext): Promise<Issued<string>> {
  const { root, identityFile, federationRuleId, organizationId, serviceAccountId, workspaceId } = identity;
  if (federationRuleId === null || organizationId === null) {
    throw unusableCredential("The provider has no federation_rule_id or no organization_id.");
  }
  requireVendor(context, root, /^api\.anthropic\.com$/);
  const assertion = await identityToken(context, identityFile, ["ANTHROPIC_IDENTITY_TOKEN_FILE"]);
  const to = "Anthropic's token service";
  const answer = await context.send({
    to,
    method: "POST",
    url: `${root}/oauth/token`,
    headers: { "content-type": "application/json", "anthropic-beta": `${oauthBeta},oidc-federation-2026-04-01` },
    body: JSON.stringify({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion,
      federation_rule_id: federationRuleId,
      organization_id: organizationId,
      ...(serviceAccountId === null ? {} : { service_account_id: serviceAccountId }),
      ...(workspaceId === null ? {} : { workspace_id: workspaceId }),
    }),
  });
  const issued = readAccessToken(answer);
  if (issued === null) throw refusedBy(to, answer);
  return issued;
}
