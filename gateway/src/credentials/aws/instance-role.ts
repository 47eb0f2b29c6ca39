import type { CredentialContext, IssuerAnswer } from "../context.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { noIdentity } from "../unusable.ts";
import { keysInJson, refused } from "./answer.ts";

const to = "the EC2 instance metadata service";

/**
 * Keys of the instance's role, by version 2 of the metadata service only: version 1 can be reached by a forged request.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html
 */
export async function instanceRoleKeys(context: CredentialContext): Promise<Issued<AwsKeys>> {
  const { workload } = context;
  if (isDisabled(context)) throw noIdentity("AWS_EC2_METADATA_DISABLED is true, so there is no instance role.");
  const root = (workload.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254").replace(/\/+$/, "");
  const session = await context.send({
    to,
    method: "PUT",
    url: `${root}/latest/api/token`,
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": "21600" },
    reach: "machine",
  });
  if (session.status !== 200) throw refused(to, session.status, null);
  const read = (path: string): Promise<IssuerAnswer> =>
    context.send({
      to,
      url: `${root}/latest/meta-data/iam/security-credentials/${path}`,
      headers: { "x-aws-ec2-metadata-token": session.text.trim() },
      reach: "machine",
    });
  const roles = await read("");
  const role = roles.text.trim().split("\n", 1)[0] ?? "";
  if (roles.status === 404 || (roles.status === 200 && role === "")) throw noIdentity("The instance has no role.");
  if (roles.status !== 200) throw refused(to, roles.status, null);
  return keysInJson(await read(encodeURIComponent(role)), to, context);
}

function isDisabled({ workload }: Pick<CredentialContext, "workload">): boolean {
  return workload.variable("AWS_EC2_METADATA_DISABLED")?.toLowerCase() === "true";
}
