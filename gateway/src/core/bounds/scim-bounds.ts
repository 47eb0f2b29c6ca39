/** People and groups that a directory sends by SCIM. Sizes in bytes, times in milliseconds. */
export const scimBounds = {
  /** One body: a group with 20,000 members is about that large. */
  scimBodyBytesMax: 1024 * 1024,
  /** Calls of one token, or of one address without a token that holds, in one window. */
  scimCallsMax: 3_000,
  scimRefusedCallsMax: 60,
  scimCallsMs: 60_000,
  scimCallersMax: 10_000,
  /** Resources of one page, as asked for and as sent without a wish. */
  scimPageMax: 200,
  scimPageUsual: 100,
  /** Members of groups in one answer; a page ends before it has more, but has one group at least. */
  scimAnswerMembersMax: 20_000,
  scimUsersMax: 100_000,
  scimGroupsMax: 10_000,
  scimGroupMembersMax: 20_000,
  /** Groups that an answer about a user lists. */
  scimGroupsOfUserMax: 1_000,
  /** A filter, or the path of a change: its characters, comparisons, and parentheses in each other. */
  scimFilterCharactersMax: 2_048,
  scimFilterTermsMax: 20,
  scimFilterDepthMax: 8,
  /** Changes of one PATCH; values of one attribute; characters of one value; names in `attributes`. */
  scimOperationsMax: 1_000,
  scimValuesMax: 20,
  scimTextMax: 1_024,
  scimAttributesAskedMax: 50,
} as const;
