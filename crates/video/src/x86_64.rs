//! Processors of the x86-64 kind: the same code, compiled for AVX2 as well.

/// Runs work whose code is all inlined here with the widest instructions that there are.
#[inline]
pub(crate) fn widest<T>(work: impl FnOnce() -> T) -> T {
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature.
        return unsafe { with_avx2(work) };
    }
    work()
}

#[target_feature(enable = "avx2")]
fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}
