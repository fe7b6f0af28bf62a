local function front(spec, want) return lanes(spec.line, sight(spec.classes, spec.bound), want) end
