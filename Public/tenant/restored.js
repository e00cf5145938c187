addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
