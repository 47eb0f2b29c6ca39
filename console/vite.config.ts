import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compressedFilesPlugin } from "./compressed-files-plugin.ts";
import { readMessagesPlugin } from "./read-messages-plugin.ts";
import { routeLinesPlugin } from "./route-lines-plugin.ts";

/** `npm run dev` here proxies calls to a gateway: the one on its usual port, or the one that SLUICE_GATEWAY names. */
const gateway = process.env["SLUICE_GATEWAY"] ?? "http://127.0.0.1:8787";

/**
 * Left to itself the bundler makes a file of every few modules that pages share: a hundred for the first page, each with its
 * headers and its own compression. So the shell with all that it needs is one file, and what pages share comes in few. What
 * runs before everything else (`main.tsx`) must stay apart from both.
 */
const chunks = [
  {
    name: "early",
    test: /preload-helper|[\\/]src[\\/](?:browser[\\/]|language[\\/](?:words|chosen|languages))/,
    priority: 3,
  },
  { name: "shell", test: /[\\/]src[\\/]start\.tsx$/, priority: 2 },
  // Few pages check what they are given; nobody else is to wait for it.
  { name: "schemas", test: /[\\/]node_modules[\\/]zod[\\/]/, priority: 2 },
  { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 4_096, priority: 1 },
];

export default defineConfig({
  base: "/console/",
  plugins: [react(), routeLinesPlugin(), readMessagesPlugin(), compressedFilesPlugin()],
  build: {
    target: "es2022",
    // Nothing may be inlined as a data: URL; the pages are served under a policy that refuses it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What a page loads is bounded by a test (e2e/budget.test.ts), and a start has nobody who could do something about it.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
  },
  server: { proxy: { "/v1": gateway, "/api": gateway, "/docs": gateway, "/openapi.json": gateway } },
});
