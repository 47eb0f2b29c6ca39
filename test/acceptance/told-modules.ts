import { writeFileSync } from "node:fs";

/**
 * Loaded before the gateway's own code: writes the files of every module that is loaded, a line each, at SIGUSR2, and
 * where it is asked for at the end of the process.
 */
const { TOLD_MODULES: file = "", TOLD_AT_EXIT: atExit } = process.env;
const tell = () => writeFileSync(file, `${Object.keys(require.cache).join("\n")}\n`);
process.on("SIGUSR2", tell);
if (atExit !== undefined) process.on("exit", tell);
