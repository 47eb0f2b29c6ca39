/** Model names may hold slashes: everything behind this prefix is the name. */
export const modelPrefix = "/v1/models/";
