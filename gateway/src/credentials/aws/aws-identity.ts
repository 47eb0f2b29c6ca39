import type { CredentialContext } from "../context.ts";
import { identityToken } from "../identity-file.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { requireMachine } from "../machine-identity.ts";
import { noIdentity, unusableCredential } from "../unusable.ts";
import { containerKeys, hasContainerService } from "./container.ts";
import { instanceRoleKeys } from "./instance-role.ts";
import { type RolesAnywhere, rolesAnywhereKeys } from "./roles-anywhere.ts";
import { assumedKeys, webIdentityKeys } from "./sts.ts";

/** How an account gets its keys. `roleArn` is assumed with the first keys, unless the first step takes the role itself. */
export interface AwsIdentity {
  readonly auth: "access_key" | "default" | "web_identity" | "container" | "instance_role" | "roles_anywhere";
  readonly region: string;
  /** The stored keys of `access_key`. */
  readonly keys: AwsKeys | null;
  readonly roleArn: string | null;
  readonly externalId: string | null;
  /** See `identityToken`. */
  readonly identityFile: string | null;
  /** Of `roles_anywhere`. */
  readonly anywhere: Pick<RolesAnywhere, "profileArn" | "trustAnchorArn" | "certificate" | "privateKey"> | null;
}

/** Keys by the account's authentication. Throws the Failure of the step that failed. */
export async function awsKeys(identity: AwsIdentity, context: CredentialContext): Promise<Issued<AwsKeys>> {
  const { auth, region, roleArn, externalId, anywhere } = identity;
  if (auth === "roles_anywhere") {
    if (anywhere === null || roleArn === null) {
      throw unusableCredential(
        "The provider has no role, profile, trust anchor, certificate or key for IAM Roles Anywhere.",
      );
    }
    return rolesAnywhereKeys(context, { ...anywhere, region, roleArn });
  }
  const first = await firstKeys(identity, context);
  if (roleArn === null || first.role === roleArn) return first.issued;
  return assumedKeys(context, { region, roleArn, externalId, keys: first.issued.credential });
}

interface FirstKeys {
  readonly issued: Issued<AwsKeys>;
  /** The role of the keys; null if it cannot be determined. */
  readonly role: string | null;
}

async function firstKeys(identity: AwsIdentity, context: CredentialContext): Promise<FirstKeys> {
  const { auth, keys } = identity;
  if (auth === "access_key") {
    if (keys === null) throw unusableCredential("The provider has no AWS credentials or no region.");
    return { issued: { credential: keys, expiresInMs: Number.POSITIVE_INFINITY }, role: null };
  }
  requireMachine(context, "aws");
  switch (auth) {
    case "web_identity":
      return webIdentity(identity, context);
    case "container":
      return { issued: await containerKeys(context), role: null };
    case "instance_role":
      return { issued: await instanceRoleKeys(context), role: null };
    default:
      return chain(identity, context);
  }
}

/** The order of the SDKs, without the files of a developer's machine. */
async function chain(identity: AwsIdentity, context: CredentialContext): Promise<FirstKeys> {
  const { workload } = context;
  const accessKeyId = workload.variable("AWS_ACCESS_KEY_ID");
  const secretAccessKey = workload.variable("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId !== null && secretAccessKey !== null) {
    const credential = { accessKeyId, secretAccessKey, sessionToken: workload.variable("AWS_SESSION_TOKEN") };
    return { issued: { credential, expiresInMs: Number.POSITIVE_INFINITY }, role: null };
  }
  if (workload.variable(fileName) !== null) return webIdentity(identity, context);
  if (hasContainerService(context)) return { issued: await containerKeys(context), role: null };
  return { issued: await instanceRoleKeys(context), role: null };
}

/** The role is the environment's, as for a service account of EKS; without one it is the account's. */
async function webIdentity(identity: AwsIdentity, context: CredentialContext): Promise<FirstKeys> {
  const { region, roleArn, identityFile } = identity;
  const role = context.workload.variable("AWS_ROLE_ARN") ?? roleArn;
  if (role === null)
    throw noIdentity("The provider has no role_arn, and AWS_ROLE_ARN of the gateway's environment is not set.");
  const token = await identityToken(context, identityFile, [fileName]);
  return { issued: await webIdentityKeys(context, { region, roleArn: role, token }), role };
}

const fileName = "AWS_WEB_IDENTITY_TOKEN_FILE";
