import { z } from "zod";
import { invalidRequest } from "#core/index.ts";

export const emailSchema = z
  .email("Not an email address.")
  .max(254)
  .transform((email) => email.toLowerCase());
export const nameSchema = z.string().trim().min(1, "A name has at least one character.").max(128);

/** Validates a user's address and name. Throws Failure invalid_request. */
export function readPerson(given: { readonly email: string; readonly name: string }) {
  return { email: read(emailSchema, given.email.trim(), "email"), name: read(nameSchema, given.name, "name") };
}

function read<Output>(schema: z.ZodType<Output>, value: string, param: string): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(param, `\`${param}\`: ${result.error.issues[0]?.message ?? "not usable"}`);
}

/** The needed parts of OpenID Connect Discovery 1.0 and RFC 7517. */
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
