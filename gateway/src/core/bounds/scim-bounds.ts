/** SCIM. Sizes in bytes, times in milliseconds. */
export const scimBounds = {
  /** A group with 20,000 members has about this size. */
  scimBodyBytesMax: 1024 * 1024,
  /** Calls of a token, and of an address without a valid token, in a window. */
  scimCallsMax: 3_000,
  scimRefusedCallsMax: 60,
  scimCallsMs: 60_000,
  scimCallersMax: 10_000,
  /** Resources of a page: maximum and default. */
  scimPageMax: 200,
  scimPageUsual: 100,
  /** Members of groups in one answer. A page ends before it has more, but has at least one group. */
  scimAnswerMembersMax: 20_000,
  scimUsersMax: 100_000,
  scimGroupsMax: 10_000,
  scimGroupMembersMax: 20_000,
  /** Groups listed with a user. */
  scimGroupsOfUserMax: 1_000,
  /** A filter, or the path of a change: length, comparisons, nesting. */
  scimFilterCharactersMax: 2_048,
  scimFilterTermsMax: 20,
  scimFilterDepthMax: 8,
  /** Changes of a PATCH; values of an attribute; length of a value; names in `attributes`. */
  scimOperationsMax: 1_000,
  scimValuesMax: 20,
  scimTextMax: 1_024,
  scimAttributesMax: 50,
} as const;
