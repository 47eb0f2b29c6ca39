import type { CredentialContext } from "../context.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { keysInXml } from "./answer.ts";
import { signAwsRequest } from "./sign.ts";

const to = "AWS STS";

/** Exchanges an OpenID Connect token for keys of a role. The request is not signed. */
export async function webIdentityKeys(
  context: CredentialContext,
  { region, roleArn, token }: { readonly region: string; readonly roleArn: string; readonly token: string },
): Promise<Issued<AwsKeys>> {
  const form = formOf("AssumeRoleWithWebIdentity", {
    RoleArn: roleArn,
    RoleSessionName: sessionName(context),
    WebIdentityToken: token,
  });
  return keysInXml(
    await context.send({ to, method: "POST", ...endpoint(context, region), headers: formHeaders, body: form }),
    to,
    context,
  );
}

/** Keys of a role that the owner of `keys` may assume. */
export async function assumedKeys(
  context: CredentialContext,
  options: {
    readonly region: string;
    readonly roleArn: string;
    readonly externalId: string | null;
    readonly keys: AwsKeys;
  },
): Promise<Issued<AwsKeys>> {
  const { region, roleArn, externalId, keys } = options;
  const body = formOf("AssumeRole", {
    RoleArn: roleArn,
    RoleSessionName: sessionName(context),
    ...(externalId === null ? {} : { ExternalId: externalId }),
  });
  const place = endpoint(context, region);
  const headers = { ...formHeaders };
  const request = { method: "POST", url: place.url, headers, body: new TextEncoder().encode(body) };
  await signAwsRequest(request, { service: "sts", region, keys, now: context.now() });
  return keysInXml(await context.send({ to, method: "POST", ...place, headers, body }), to, context);
}

const formHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/x-www-form-urlencoded; charset=utf-8",
};

function formOf(action: string, values: Readonly<Record<string, string>>): string {
  return new URLSearchParams({ Action: action, Version: "2011-06-15", ...values }).toString();
}

function endpoint(context: CredentialContext, region: string) {
  return awsEndpoint(context, { service: "sts", variable: "AWS_ENDPOINT_URL_STS", region, path: "/" });
}

/** The regional endpoint of a service, or the operator's. */
export function awsEndpoint(
  { workload }: Pick<CredentialContext, "workload">,
  at: { readonly service: string; readonly variable: string; readonly region: string; readonly path: string },
): { readonly url: string; readonly reach?: "operator" } {
  const set = workload.variable(at.variable);
  if (set !== null) return { url: set.replace(/\/+$/, "") + at.path, reach: "operator" };
  const domain = at.region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return { url: `https://${at.service}.${at.region}.${domain}${at.path}` };
}

/** AWS's audit log shows it. */
function sessionName({ workload }: CredentialContext): string {
  return workload.variable("AWS_ROLE_SESSION_NAME") ?? "sluice";
}
