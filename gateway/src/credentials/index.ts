/**
 * credentials: short-lived credentials for upstreams, from the identity of the machine or from a stored key. Each scheme is
 * one file with a function of its options and a context, which has its effects: requests, the clock, files and variables.
 *
 * issued   a bearer token or AWS keys, and how long they live. `provider-client` caches them.
 * workload what the machine offers as proof, and what the operator allows of it.
 *
 * Failures: an issuer that does not answer, or refuses, is upstream_error with the step and the issuer's error code, retried
 * at another deployment. Messages have no token, path, account or text of an issuer.
 */
export { type AwsIdentity, awsKeys } from "./aws/aws-identity.ts";
export { signAwsRequest } from "./aws/sign.ts";
export { type AzureIdentity, azureToken } from "./azure/azure-identity.ts";
export { type CredentialContext, credentialContext } from "./context.ts";
export { externalAccountToken } from "./google/external-account.ts";
export { metadataToken } from "./google/metadata.ts";
export { serviceAccountToken } from "./google/service-account.ts";
export { type AwsKeys, type Issued, type ShortLived, secretsIn } from "./issued.ts";
export { requireMachine, requireVendor } from "./machine-identity.ts";
export { readReference } from "./references/read-reference.ts";
export { isReference, parseReference, referenceFormProblem } from "./references/reference.ts";
export { VaultSession } from "./references/vault-session.ts";
export { noIdentity, unusableCredential } from "./unusable.ts";
export { anthropicToken, oauthBeta } from "./vendors/anthropic.ts";
export { openaiToken } from "./vendors/openai.ts";
