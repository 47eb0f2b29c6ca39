import { objectOf, parseObject, textOf } from "#protocols/index.ts";
import { refused } from "../aws/answer.ts";
import { awsKeys } from "../aws/aws-identity.ts";
import { signAwsRequest } from "../aws/sign.ts";
import { awsEndpoint } from "../aws/sts.ts";
import { vaultToken } from "../azure/azure-identity.ts";
import type { CredentialContext } from "../context.ts";
import { defaultToken } from "../google/default-token.ts";
import { refusedBy } from "../oauth.ts";
import { noIdentity } from "../unusable.ts";

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
export async function readAwsSecret(context: CredentialContext, region: string, name: string): Promise<string> {
  const { credential } = await awsKeys(
    { auth: "default", region, keys: null, roleArn: null, externalId: null, identityFile: null, anywhere: null },
    context,
  );
  const variable = "AWS_ENDPOINT_URL_SECRETS_MANAGER";
  const place = awsEndpoint(context, { service: "secretsmanager", variable, region, path: "/" });
  const body = JSON.stringify({ SecretId: name, VersionStage: "AWSCURRENT" });
  const headers: Record<string, string> = {
    "content-type": "application/x-amz-json-1.1",
    "x-amz-target": "secretsmanager.GetSecretValue",
  };
  const request = { method: "POST", url: place.url, headers, body: new TextEncoder().encode(body) };
  await signAwsRequest(request, { service: "secretsmanager", region, keys: credential, now: context.now() });
  const to = "AWS Secrets Manager";
  const answer = await context.send({ to, method: "POST", ...place, headers, body });
  const document = parseObject(answer.text) ?? {};
  if (answer.status !== 200) {
    throw refused(to, answer.status, textOf(document["__type"])?.split("#").at(-1) ?? null);
  }
  const binary = textOf(document["SecretBinary"]);
  const text = textOf(document["SecretString"]) ?? (binary === null ? null : decodeBase64(binary));
  if (text === null) throw noIdentity("AWS Secrets Manager returned a secret without a value.");
  return text;
}

/** https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access */
export async function readGoogleSecret(context: CredentialContext, name: string): Promise<string> {
  const { credential } = await defaultToken(context);
  const to = "Google Secret Manager";
  const answer = await context.send({
    to,
    url: `https://secretmanager.googleapis.com/v1/${name}:access`,
    headers: { authorization: `Bearer ${credential}` },
  });
  const document = parseObject(answer.text) ?? {};
  const data = textOf(objectOf(document["payload"])["data"]);
  if (answer.status !== 200 || data === null) {
    throw refused(to, answer.status, textOf(objectOf(document["error"])["status"]));
  }
  return decodeBase64(data);
}

/** https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret */
export async function readAzureSecret(context: CredentialContext, vault: string, name: string): Promise<string> {
  const { credential, domain } = await vaultToken(context);
  const to = "Azure Key Vault";
  const answer = await context.send({
    to,
    url: `https://${vault}.${domain}/secrets/${name}?api-version=7.4`,
    headers: { authorization: `Bearer ${credential}` },
  });
  const value = textOf(parseObject(answer.text)?.["value"]);
  if (answer.status === 200 && value !== null) return value;
  const code = textOf(objectOf(parseObject(answer.text)?.["error"])["code"]);
  throw refusedBy(to, { status: answer.status, text: JSON.stringify({ error: code }) });
}

function decodeBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
