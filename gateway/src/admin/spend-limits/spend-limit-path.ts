/** Where Claude's own Admin API has spend limits: below the calls' prefix, and nevertheless for those who run the gateway. */
export const spendLimitsPath = "/v1/organizations/spend_limits";
