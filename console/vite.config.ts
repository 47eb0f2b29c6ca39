import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compressedFilesPlugin } from "./compressed-files-plugin.ts";
import { readMessagesPlugin } from "./read-messages-plugin.ts";
import { routeLinesPlugin } from "./route-lines-plugin.ts";

/** `npm run dev` here proxies calls to a gateway: the one on its usual port, or the one that SLUICE_GATEWAY names. */
const gateway = process.env["SLUICE_GATEWAY"] ?? "http://127.0.0.1:8787";

/**
 * By default, the bundler creates a file for every few shared modules: a hundred for the first page, each with its own headers and
 * compression. So the shell with its dependencies is one file, and shared modules are in few files. `main.tsx`, which runs first, must
 * be separate from both.
 */
const chunks = [
  {
    name: "early",
    test: /preload-helper|[\\/]src[\\/](?:browser[\\/]|language[\\/](?:words|chosen|languages))/,
    priority: 3,
  },
  { name: "shell", test: /[\\/]src[\\/]start\.tsx$/, priority: 2 },
  // Few pages validate input, so others do not load zod.
  { name: "schemas", test: /[\\/]node_modules[\\/]zod[\\/]/, priority: 2 },
  // The first page shows its tables after its figures.
  {
    name: "tables",
    test: /[\\/](?:table-core|react-table|virtual-core|react-virtual)[\\/]|[\\/]components[\\/](?:data-table|data-rows|column-menu)\.tsx$/,
    includeDependenciesRecursively: false,
    priority: 2,
  },
  // Merge only tiny files: a higher threshold puts code of other pages into the first page. Compressed, the home page loads 235 KB of
  // scripts and the sign-in page 249 KB.
  { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 512, priority: 1 },
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
    // A test checks the size of pages (e2e/budget.test.ts), so a warning of the build is not needed.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
  },
  server: { proxy: { "/v1": gateway, "/api": gateway, "/docs": gateway, "/openapi.json": gateway } },
});
