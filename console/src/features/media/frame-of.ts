const quality = 0.92;

/** The current frame of a video as a JPEG of at most the given width; null if it is unavailable. */
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
