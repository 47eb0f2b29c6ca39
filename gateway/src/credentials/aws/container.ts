import type { CredentialContext } from "../context.ts";
import { readText } from "../identity-file.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { noIdentity } from "../unusable.ts";
import { keysInJson } from "./answer.ts";

export function hasContainerService({ workload }: Pick<CredentialContext, "workload">): boolean {
  return workload.variable(relativeName) !== null || workload.variable(fullName) !== null;
}

/**
 * Keys from the agent of ECS or of EKS pod identity.
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
 */
export async function containerKeys(context: CredentialContext): Promise<Issued<AwsKeys>> {
  const { workload } = context;
  const relative = workload.variable(relativeName);
  const url = relative === null ? fullUrl(workload.variable(fullName)) : `http://169.254.170.2${relative}`;
  const headers: Record<string, string> = {};
  const file = workload.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  const token =
    file === null
      ? workload.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
      : await readText(context, file, "The file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names");
  if (token !== null) headers["authorization"] = token;
  const to = "the container credentials service";
  return keysInJson(await context.send({ to, url, headers, reach: "machine" }), to, context);
}

const relativeName = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const fullName = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

/** Plain HTTP only to this machine, as the SDKs do, because the answer has a secret. */
function fullUrl(text: string | null): string {
  if (text === null) {
    throw noIdentity(
      `The gateway's environment has no ${relativeName} and no ${fullName}, so there is no container service.`,
    );
  }
  const url = URL.parse(text);
  const isSafe = url !== null && (url.protocol === "https:" || safeHosts.test(url.hostname));
  if (!isSafe) throw noIdentity(`${fullName} must be an https URL or an address of this machine's services.`);
  return text;
}

const safeHosts = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;
