/**
 * identity: who is calling, and what they may use. Keys are found by the digest of their secret, in a bounded cache in
 * front of the key store. A caller in the cache costs no read. When the store is down, callers in the cache go on. Others
 * get an internal error and are never let through.
 *
 * For the console: a *grant* is a role in a workspace, or the rights of an administrator. The rules of grants say who may
 * give, change and remove them; they are pure functions. Set-up makes the first administrator.
 */

export { AgentSignIn, type IssuedTokens } from "./agents/agent-sign-in.ts";
export { IssuerRecheck } from "./agents/issuer-recheck.ts";
export { type AgentSettingsOf, agentSettingsBy } from "./agents/served-settings.ts";
export { Authenticator, addressAllowed } from "./authenticator.ts";
export {
  checkGrant,
  checkInvitationRevoke,
  checkMemberRemoval,
  checkRoleChange,
  mayInvite,
  mayRevokeToken,
  noInvitation,
} from "./grants.ts";
export { type BoundedKey, bindsKey, type KeyBound, keyBounds, widenedBounds } from "./key-bounds.ts";
export {
  adminTokenPrefix,
  keySecretBytes,
  looksLikeAdminToken,
  looksLikeScimToken,
  makeAdminTokenSecret,
  makeKeySecret,
  makeScimTokenSecret,
} from "./key-secret.ts";
export {
  accessReason,
  deniedBy,
  deploymentsReady,
  isGranted,
  type KeyAccess,
  matches,
  matchingPattern,
  mayCall,
  mayPassThrough,
  passThroughDeniedBy,
} from "./model-grant.ts";
export { createSetup, makeFirstAdministrator, type Setup, type SharedSetup } from "./setup.ts";
