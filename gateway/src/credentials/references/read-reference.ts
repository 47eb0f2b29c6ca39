import { parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import { readText } from "../identity-file.ts";
import { noIdentity } from "../unusable.ts";
import { readAwsSecret, readAzureSecret, readGoogleSecret } from "./cloud-stores.ts";
import { parseReference, type SecretReference } from "./reference.ts";
import type { VaultSession } from "./vault-session.ts";

/**
 * The secret that a reference names. Throws the Failure of the step that failed, and for a reference that the operator does
 * not allow. The stores are opened with the gateway's own identity.
 */
export async function readReference(context: CredentialContext, text: string, vault: VaultSession): Promise<string> {
  const reference = parseReference(text);
  if (reference === null) throw noIdentity("The provider has a secret reference that cannot be read.");
  if (!context.workload.allowsReference(text)) {
    throw noIdentity("SLUICE_SECRET_REFERENCES does not allow a secret reference of the provider.");
  }
  // An allowed reference is a permission to open its store.
  const own = { ...context, workload: { ...context.workload, allowsCloud: () => true } };
  const stored = await storedText(own, reference, vault);
  const value = "field" in reference && reference.store !== "vault" ? fieldOf(stored, reference.field) : stored;
  if (value.trim() === "") throw noIdentity("A secret reference of the provider leads to an empty secret.");
  return value.trim();
}

function storedText(
  context: CredentialContext,
  reference: SecretReference,
  vault: VaultSession,
): Promise<string> | string {
  switch (reference.store) {
    case "vault":
      return vault.read(context, reference);
    case "aws-sm":
      return readAwsSecret(context, reference.region, reference.name);
    case "gcp-sm":
      return readGoogleSecret(context, reference.name);
    case "azure-kv":
      return readAzureSecret(context, reference.vault, reference.name);
    case "file":
      return readText(context, reference.path, "The file of a secret reference");
    case "env":
      return context.workload.variable(reference.name) ?? "";
  }
}

function fieldOf(text: string, field: string | null): string {
  if (field === null) return text;
  const value = textOf(parseObject(text)?.[field]);
  if (value === null) throw noIdentity("A secret does not have the field of the provider's reference.");
  return value;
}
