import { z } from "zod";

/** What an issuer publishes, as far as it is needed (OpenID Connect Discovery 1.0, RFC 7517). */
export const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
  scopes_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});
export type IssuerMetadata = z.infer<typeof metadataSchema>;

const keySchema = z.looseObject({ kty: z.string(), kid: z.string().optional(), use: z.string().optional() });
export const keysSchema = z.object({ keys: z.array(keySchema) });
export type IssuerKey = z.infer<typeof keySchema>;
