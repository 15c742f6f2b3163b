// Packed data: zlib in base64, JSON before columns of numbers (see report/packing.py).

const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };

/** Unpack the text of the page's data: its content, with every column in place of its description. */
async function unpack(text) {
  const buffer = await inflated(text).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const json = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const columns = 8 * Math.ceil((4 + length) / 8);
  return JSON.parse(json, (_, value) => {
    if (value === null || typeof value !== "object" || !(value.type in TYPES)) return value;
    return new TYPES[value.type](buffer, columns + value.at, value.count);
  });
}
