import { parseObject } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import { readText } from "../identity-file.ts";
import type { Issued } from "../issued.ts";
import { externalAccountToken } from "./external-account.ts";
import { metadataToken } from "./metadata.ts";
import { serviceAccountToken } from "./service-account.ts";

/** The gateway's own identity: the file of GOOGLE_APPLICATION_CREDENTIALS, else the metadata server. */
export async function defaultToken(context: CredentialContext): Promise<Issued<string>> {
  const file = context.workload.variable("GOOGLE_APPLICATION_CREDENTIALS");
  if (file === null) return metadataToken(context);
  const text = await readText(context, file, "The file that GOOGLE_APPLICATION_CREDENTIALS names");
  const document = parseObject(text) ?? {};
  if (document["type"] === "external_account") return externalAccountToken(context, document);
  return serviceAccountToken(context, document);
}
