import { writeFileSync } from "node:fs";

/** Preloaded before the gateway's code: writes the files of all loaded modules, one per line, on SIGUSR2 and optionally at exit. */
const { LOADED_MODULES_FILE: file = "", LIST_MODULES_AT_EXIT: atExit } = process.env;
const list = () => writeFileSync(file, `${Object.keys(require.cache).join("\n")}\n`);
process.on("SIGUSR2", list);
if (atExit !== undefined) process.on("exit", list);
