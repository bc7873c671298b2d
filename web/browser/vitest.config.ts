import { defineConfig } from "vitest/config";

// One real installation for all, and one browser at a time: the machine that runs this has two cores.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.spec.ts"],
    globalSetup: ["installation.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
  },
});
