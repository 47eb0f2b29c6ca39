import type { CredentialContext } from "./context.ts";
import { requireOwnTrust } from "./machine-identity.ts";
import { noIdentity } from "./unusable.ts";

/**
 * The token in a file that the machine renews, such as a projected service account token of Kubernetes. `path` is from the
 * account's settings and must be among the operator's secret references; null: the file that the variable names.
 */
export async function identityToken(
  context: CredentialContext,
  path: string | null,
  variables: readonly string[],
): Promise<string> {
  const { workload } = context;
  requireOwnTrust(context);
  const named = variables.map((name) => workload.variable(name)).find((value) => value !== null) ?? null;
  const file = path ?? named;
  if (file === null) {
    const or = variables.length === 0 ? "" : `, and ${variables.join(" and ")} of the gateway's environment is not set`;
    throw noIdentity(`The provider has no identity_file${or}.`);
  }
  if (file !== named && !workload.allowsReference(`file://${file}`)) {
    throw noIdentity("SLUICE_SECRET_REFERENCES does not allow the provider's identity_file.");
  }
  const token = await readText(context, file, "The file with the identity token");
  if (token === "") throw noIdentity("The file with the identity token is empty.");
  if (token.length > tokenCharactersMax) throw noIdentity("The file with the identity token is too large for a token.");
  return token;
}

/** The file's text without white space at its ends. Errors do not have the path, which callers must not see. */
export async function readText(
  { workload }: Pick<CredentialContext, "workload">,
  path: string,
  what: string,
): Promise<string> {
  try {
    return (await workload.readFile(path)).trim();
  } catch (thrown) {
    throw noIdentity(`${what} ${thrown instanceof Error ? thrown.message : "cannot be read"}.`, thrown);
  }
}

const tokenCharactersMax = 16 * 1024;
