/** Where a directory finds SCIM, on the port of the admin API. */
export const scimPath = "/scim/v2";
