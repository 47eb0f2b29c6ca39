import { awsKeys } from "../aws/aws-identity.ts";
import { signAwsRequest } from "../aws/sign.ts";
import type { CredentialContext } from "../context.ts";

/**
 * A signed request to AWS STS, with which Google asks who the machine is. The addresses of the document are not used: keys
 * come from the environment, in the order of the AWS SDKs.
 * https://cloud.google.com/iam/docs/workload-identity-federation-with-other-clouds
 */
export async function awsSubject(context: CredentialContext, audience: string): Promise<string> {
  const region = regionOf(context);
  const { credential } = await awsKeys(
    { auth: "default", region, keys: null, roleArn: null, externalId: null, identityFile: null, anywhere: null },
    context,
  );
  const url = `https://sts.${region}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15`;
  const headers: Record<string, string> = { "x-goog-cloud-target-resource": audience };
  const request = { method: "POST", url, headers, body: null };
  await signAwsRequest(request, { service: "sts", region, keys: credential, now: context.now(), sendsDigest: false });
  const list = Object.entries({ ...headers, host: new URL(url).host }).map(([key, value]) => ({ key, value }));
  return encodeURIComponent(JSON.stringify({ url, method: "POST", headers: list }));
}

function regionOf({ workload }: CredentialContext): string {
  return workload.variable("AWS_REGION") ?? workload.variable("AWS_DEFAULT_REGION") ?? "us-east-1";
}
