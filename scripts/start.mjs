// `npm start`: installs, builds the console and the gateway, and starts it. Other arguments go to the gateway's command line
// unchanged; other commands, and `serve --dev`, run from source.
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { buildGateway } from "./build-gateway.mjs";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { runGateway } from "./run-gateway.mjs";

const parent = process.ppid;
install();
const words = process.argv.slice(2);
const serves = (words[0] === "serve" || words[0] === "demo") && !words.includes("--help");
if (serves && !buildConsole()) {
  console.error("sluice: could not build the console; starting the gateway without it.");
}
const built = serves && !words.includes("--dev") ? buildGateway() : null;
runGateway({
  runtime: bun,
  program: built ?? join(root, "gateway", "src", "cli", "cli.ts"),
  words,
  environment: bunEnvironment,
  npm: process.env.npm_package_json === join(root, "package.json") ? parent : null,
});
