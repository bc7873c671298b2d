import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { useKept } from "./kept";

test("a browser that keeps nothing still lets one type", () => {
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  const { result } = renderHook(() => useKept("t/f/cluster", { name: "" }));
  expect(() => act(() => result.current[1]({ name: "cart" }))).not.toThrow();
  expect(result.current[0]).toEqual({ name: "cart" });
  full.mockRestore();
});
