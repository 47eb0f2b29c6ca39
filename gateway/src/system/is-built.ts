/**
 * Whether this runs from a build, as the executable and the npm package are: modules lie together in few files, beside them
 * the threads' programs, and in the folder `static` what browsers are given.
 */
export const isBuilt = !import.meta.url.endsWith("/is-built.ts");
