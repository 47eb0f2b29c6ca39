/** Of the installation, from the one place where it stands; a built program carries it. */
export { version } from "../../../package.json";
