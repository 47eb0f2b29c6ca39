/**
 * identity: who is calling and what they may use. Keys are found by digest in a bounded cache in front of the key
 * store; a known caller costs no read. When the store is down, known callers go on and unknown ones are refused
 * with an internal error, never let through.
 */
export { Authenticator, type AuthenticatorOptions } from "./authenticator.ts";
export { looksLikeKeySecret, makeKeySecret } from "./key-secret.ts";
export { mayCall, whyNot } from "./model-grant.ts";
export { createSetup, type FirstAdministrator, type Setup, type SetupOptions } from "./setup.ts";
