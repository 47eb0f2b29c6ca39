/** What an account of single sign-on does where nobody said. */
export const oidcDefaults = Object.freeze({
  secondFactorTrusted: false,
  scopes: [] as readonly string[],
  offlineAccess: false,
  recheckMinutes: 15,
  graceHours: 24,
  directoryClaim: null,
});
