/** contract: schemas and types shared by the gateway, the console and scripts. Imports nothing of ours. */
export * from "./config.ts";
