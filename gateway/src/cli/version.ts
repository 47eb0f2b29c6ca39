/** Of this program; a test holds it equal to the one in package.json, which a built executable does not carry. */
export const version = "0.1.0";
