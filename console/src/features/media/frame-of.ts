const quality = 0.92;

/** What a video shows right now, as a JPEG no wider than asked; null where it cannot be had. */
export function frameOf(video: HTMLVideoElement, widthMax = Number.POSITIVE_INFINITY): string | null {
  const canvas = document.createElement("canvas");
  const scale = Math.min(1, widthMax / Math.max(1, video.videoWidth));
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  const context = canvas.getContext("2d");
  if (context === null || canvas.width === 0 || canvas.height === 0) return null;
  try {
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/jpeg", quality);
  } catch {
    return null;
  }
}
