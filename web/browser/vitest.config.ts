import { defineConfig } from "vitest/config";

// One real installation for all, and two browsers at a time: the machine that runs this has two cores, and most of a test is waiting.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.spec.ts"],
    globalSetup: ["installation.ts"],
    environment: "node",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
  },
});
