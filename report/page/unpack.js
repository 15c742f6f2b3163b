// The first script of a page: it unpacks the page's own script, whose digest the policy names.

/** Return zlib in base64 as a response that is read as text or as bytes. */
globalThis.inflated = (text) => {
  const letters = atob(text.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")));
};

const script = document.createElement("script");
script.type = "module";
script.textContent = await inflated(document.getElementById("code").textContent).text();
document.body.append(script);
