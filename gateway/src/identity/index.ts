/**
 * identity: identifies callers and decides what they may use. Keys are found by the digest of their secret, in a bounded cache in front
 * of the key store. While the store is unavailable, cached keys work for a while; calls with other keys fail.
 *
 * For the console: a *grant* is a role in a workspace, or the rights of an administrator. Pure functions decide who may create, change
 * and revoke grants. Setup creates the first administrator.
 */

export { AgentSignIn, type IssuedTokens } from "./agents/agent-sign-in.ts";
export { IssuerRecheck } from "./agents/issuer-recheck.ts";
export { agentSettingsBy, type ReadAgentSettings } from "./agents/served-settings.ts";
export { Authenticator, addressAllowed, hasCredential, readCredential } from "./authenticator.ts";
export { callableModels, holderOf, isCallable, noModel, refusalOf } from "./callable-models.ts";
export {
  checkGrant,
  checkInvitationRevoke,
  checkMemberRemoval,
  checkRoleChange,
  invitationNotFound,
  mayInvite,
  mayRevokeToken,
} from "./grants.ts";
export { type BoundedKey, bindsKey, enforcedBy, type KeyBound, keyBounds, widenedBounds } from "./key-bounds.ts";
export {
  adminTokenPrefix,
  hasAdminTokenFormat,
  hasScimTokenFormat,
  keySecretBytes,
  makeAdminTokenSecret,
  makeKeySecret,
  makeScimTokenSecret,
} from "./key-secret.ts";
export {
  accessReason,
  deploymentsReady,
  isGranted,
  type KeyAccess,
  matches,
  matchingPattern,
  mayCall,
  mayPassThrough,
  passThroughDeniedBy,
  shadowAddressDenials,
  shadowDenials,
  shadowDenialsOf,
} from "./model-grant.ts";
export { createSetup, makeFirstAdministrator, type Setup, type SharedSetup } from "./setup.ts";
export { UploadTokens } from "./upload-tokens.ts";
