/** Gives the browser a file to save. */
export function saveAs(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by the next turn of its loop, and holds it from then on.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
